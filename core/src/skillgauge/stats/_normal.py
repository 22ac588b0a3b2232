"""The standard normal distribution, as far as the intervals need it, and Student's.

It exists to keep the import of `statistics` (which pulls in decimal and fractions) away from commands
that compute no interval.
"""

import math


def normal_cdf(z: float) -> float:
    """Return the chance that a standard normal variable is at most `z`."""
    # erfc and not 1 + erf: the latter cancels to 0 far out in the lower tail.
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """Return the z below which a standard normal variable falls with chance `p`, 0 < p < 1."""
    # Here and not at the top: this import alone costs about as much as all modules of this package.
    from statistics import NormalDist  # noqa: PLC0415

    return NormalDist().inv_cdf(p)


def two_sided_z(level: float) -> float:
    """Return the z with `level` of the mass between -z and +z (1.959964 for 0.95)."""
    # From the lower tail: (1 + level) / 2 rounds to 1, which has no quantile, for levels close to 1.
    return -normal_quantile((1.0 - level) / 2.0)


def two_sided_t(level: float, degrees: int) -> float:
    """Return the t with `level` of the mass of Student's distribution between -t and +t.

    Source: formula 26.7.5 of M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), which is 1 % low
    at 3 degrees of freedom and better from there on.
    """
    z = two_sided_z(level)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))
