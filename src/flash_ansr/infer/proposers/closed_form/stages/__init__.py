"""The stages of closed forms, each a family of laws: power laws, products, sums, rational forms."""
