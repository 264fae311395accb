"""A search for planted instructions that a writer obeys: mutations, chosen by what got through before."""
