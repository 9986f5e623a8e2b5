"""Makes the table of counts, and reports what held-out laws cost: ``python -m flash_ansr.price.estimate``."""
