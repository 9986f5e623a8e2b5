"""Laws of science by field, with the meaning, the unit and the usual size of each quantity.

The laws are the material for a statistics of forms: they keep equal forms that mean different things.
"""

from flash_ansr.catalogues.science.laws import Law, Quantity, field_names, load_field, load_laws

__all__ = ["Law", "Quantity", "field_names", "load_field", "load_laws"]
