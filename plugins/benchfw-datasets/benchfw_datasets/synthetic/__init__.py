"""Makers of synthetic sets, of +, -, x, / and sqrt in one order, from benchfw's own random stream."""
