"""The page's server under load: many sessions at once, memory over time, what comes past capacity, and its end."""
