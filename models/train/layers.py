"""Layers in JAX, in (channels, height, width, batch) layout.

With the batch innermost every layer is long contiguous vectors or one plain
matrix product, which the CPU compiler handles far better than NCHW or NHWC,
depthwise convolutions above all.
"""

import functools

import jax
import jax.numpy as jnp

BATCHNORM_EPSILON = 1e-5
BATCHNORM_MOMENTUM = 0.9


def _windows(x, kernel, stride, pad):
    """One (C, Ho, Wo, N) view of the padded input for each kernel position, row by row."""
    x = jnp.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    rows = stride * ((x.shape[1] - kernel) // stride) + 1
    columns = stride * ((x.shape[2] - kernel) // stride) + 1
    return [
        x[:, dy : dy + rows : stride, dx : dx + columns : stride, :]
        for dy in range(kernel)
        for dx in range(kernel)
    ]


def conv(x, weight, stride=1, pad=0):
    """Convolution without bias; weight is (out, in, k, k)."""
    out, _, kernel, _ = weight.shape
    columns = jnp.stack(_windows(x, kernel, stride, pad), 1)
    result = weight.reshape(out, -1) @ columns.reshape(weight[0].size, -1)
    return result.reshape(out, *columns.shape[2:])


def _depthwise(x, weight, stride):
    taps = weight.reshape(weight.shape[0], -1)
    windows = _windows(x, 3, stride, 1)
    return sum(window * taps[:, i, None, None, None] for i, window in enumerate(windows))


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def depthwise(x, weight, stride):
    """3x3 depthwise convolution, padding 1; weight is (C, 1, 3, 3)."""
    return _depthwise(x, weight, stride)


def _depthwise_forward(x, weight, stride):
    return _depthwise(x, weight, stride), (x, weight)


def _depthwise_backward(stride, saved, gradient):
    # Written out because the derived gradients, sums of padded slices, are many times slower.
    x, weight = saved
    fill = [(0, 0, 0)] + [(0, x.shape[axis] - (stride * (gradient.shape[axis] - 1) + 1), stride - 1) for axis in (1, 2)]
    spread = jax.lax.pad(gradient, jnp.float32(0), fill + [(0, 0, 0)])
    to_input = _depthwise(spread, weight[:, :, ::-1, ::-1], 1)
    products = [window * gradient for window in _windows(x, 3, stride, 1)]
    # Rows are added first: a sum over all of (H, W, N) at once is not vectorised.
    taps = [sum(product[:, row] for row in range(product.shape[1])).sum((1, 2)) for product in products]
    return to_input, jnp.stack(taps, 1).reshape(weight.shape)


depthwise.defvjp(_depthwise_forward, _depthwise_backward)


def max_pool2(x):
    """2x2 maximum pooling, stride 2."""
    channels, height, width, batch = x.shape
    return x.reshape(channels, height // 2, 2, width // 2, 2, batch).max((2, 4))


def dense(x, weight, bias):
    """Fully connected; x is (in, N), weight is (out, in)."""
    return weight @ x + bias[:, None]


def batchnorm(x, params, state, name, training):
    """Returns the normalised tensor and the running statistics that it leaves behind."""
    if training:
        mean, variance = x.mean((1, 2, 3)), x.var((1, 2, 3))
        keep = BATCHNORM_MOMENTUM
        state = {
            **state,
            f"{name}.mean": keep * state[f"{name}.mean"] + (1 - keep) * mean,
            f"{name}.variance": keep * state[f"{name}.variance"] + (1 - keep) * variance,
        }
    else:
        mean, variance = state[f"{name}.mean"], state[f"{name}.variance"]
    scale = params[f"{name}.scale"] / jnp.sqrt(variance + BATCHNORM_EPSILON)
    shift = params[f"{name}.bias"] - mean * scale
    return x * scale[:, None, None, None] + shift[:, None, None, None], state


def relu6(x):
    return jnp.clip(x, 0.0, 6.0)
