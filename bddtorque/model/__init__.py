"""The compiled thing: words, plan, tables, diagrams and certificate, and the file that holds them."""
