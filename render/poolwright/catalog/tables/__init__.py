"""The tables' rows, a module for each group of tables: loaded only with the first of its tables that is decoded."""
