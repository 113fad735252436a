"""Cache tiers: memory, a middle tier, a device."""
