"""The paper's own engine, rule mining and refiners: reference code for comparisons."""
