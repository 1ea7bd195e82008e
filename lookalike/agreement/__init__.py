"""From votes to labels: consensus, agreement coefficients, models of the voters."""
