"""Rule discovery: finds, verifies and prunes the rules of the simplifier. Simplifying itself never imports this."""
