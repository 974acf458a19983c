"""`Model`, the compiled thing: words, plan, tables, diagrams, certificate; and its .bdt file."""
