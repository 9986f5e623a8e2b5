"""What laws look like: the price of a form in nats, learned from the laws of science.

A form is read as a sum of products of powers (``native/ansr/price``) and written down by answers to a few questions;
its price is minus the logarithm of their probability. Knows nothing of data.
"""

from flash_ansr.price.prices import Prices, is_usual, plausibility, usual_prices

__all__ = ["Prices", "is_usual", "plausibility", "usual_prices"]
