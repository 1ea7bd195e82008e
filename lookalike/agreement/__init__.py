"""From votes to labels: majority, agreement coefficients, models of the voters."""
