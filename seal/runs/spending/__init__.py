"""What a run costs: the tokens that models were asked, prices, budgets, and the plan before it."""
