"""What decides the bits of a number: threads, precision and the version of our own arithmetic.

Threads are set when `saddlescope` is first imported; a BLAS that was loaded before is brought to one thread here.
"""

import jax
from threadpoolctl import threadpool_limits

from saddlescope.storage.provenance import VERSION as VERSION

threadpool_limits(1, "blas")
jax.config.update("jax_enable_x64", True)  # float32 stays a choice of each setting
