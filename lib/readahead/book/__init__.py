"""The book: every chapter as a page that needs no kernel and no network."""
