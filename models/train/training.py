"""The training loop that all networks share."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH = 64
AVERAGE_DECAY = 0.999


def he_normal(random, shape):
    """Initial weights for a rectified layer; `shape` is (out, in, ...)."""
    return (random.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


def distort(images, key, shift, degrees, zoom, mirror):
    """Random affine distortion of (N, H, W) float images, bilinear, zero outside.

    `shift` is in pixels, `zoom` a fraction; each is the bound of a uniform draw.
    """
    count, height, width = images.shape
    keys = jax.random.split(key, 5)

    def draw(key, bound):
        return jax.random.uniform(key, (count, 1, 1), minval=-bound, maxval=bound)

    angle, scale = draw(keys[0], np.deg2rad(degrees)), 1 + draw(keys[1], zoom)
    dy, dx = draw(keys[2], shift), draw(keys[3], shift)
    flip = jnp.where(jax.random.bernoulli(keys[4], 0.5, (count, 1, 1)), -1.0, 1.0) if mirror else 1.0
    y = jnp.arange(height)[None, :, None] - (height - 1) / 2
    x = jnp.arange(width)[None, None, :] - (width - 1) / 2
    cosine, sine = jnp.cos(angle) * scale, jnp.sin(angle) * scale
    at_y = cosine * y + sine * x + (height - 1) / 2 + dy
    at_x = flip * (cosine * x - sine * y) + (width - 1) / 2 + dx
    sample = lambda image, y, x: jax.scipy.ndimage.map_coordinates(image, [y, x], order=1)
    return jax.vmap(sample)(images, at_y, at_x)


def cross_entropy(logits, wanted):
    """`logits` is (classes, N), `wanted` (N, classes)."""
    return optax.softmax_cross_entropy(logits.T, wanted).mean()


def train(
    forward, params, state, images, labels, *,
    epochs, peak_rate, weight_decay, smoothing, distortion, seed, loss=cross_entropy,
):
    """Trains with AdamW on a one-cycle cosine schedule; returns averaged parameters and state.

    forward(params, state, x, training) takes x as (1, H, W, N) in [0, 1] and returns the logits
    (..., classes, N), as `loss` takes them, and the next state. No image is held out and no epoch
    is picked by its accuracy.
    """
    steps = len(images) // BATCH
    schedule = optax.cosine_onecycle_schedule(epochs * steps, peak_rate, pct_start=0.15)
    decayed = jax.tree.map(lambda p: p.ndim > 1, params)
    optimiser = optax.adamw(schedule, weight_decay=weight_decay, mask=decayed)
    moments = optimiser.init(params)
    average = (params, state)

    def measured(params, state, x, targets):
        logits, state = forward(params, state, x, True)
        wanted = optax.smooth_labels(jax.nn.one_hot(targets, logits.shape[-2]), smoothing)
        return loss(logits, wanted), state

    @jax.jit
    def step(params, state, moments, average, batch, targets, number):
        key = jax.random.fold_in(jax.random.key(seed), number)
        x = distort(batch.astype(jnp.float32) / 255, key, **distortion).transpose(1, 2, 0)[None]
        (value, state), gradient = jax.value_and_grad(measured, has_aux=True)(params, state, x, targets)
        updates, moments = optimiser.update(gradient, moments, params)
        params = optax.apply_updates(params, updates)
        # A short memory at first, so that the random start is forgotten.
        decay = jnp.minimum(AVERAGE_DECAY, (1 + number) / (10 + number))
        average = jax.tree.map(lambda a, b: decay * a + (1 - decay) * b, average, (params, state))
        return params, state, moments, average, value

    shuffle = np.random.default_rng(seed)
    number = 0
    for epoch in range(epochs):
        started, total = time.monotonic(), 0.0
        order = shuffle.permutation(len(images))
        for at in range(0, steps * BATCH, BATCH):
            rows = order[at : at + BATCH]
            params, state, moments, average, value = step(
                params, state, moments, average, images[rows], labels[rows], number
            )
            total += float(value)
            number += 1
        print(f"epoch {epoch + 1:2}/{epochs}  loss {total / steps:.4f}  {time.monotonic() - started:.1f} s", flush=True)
    return jax.tree.map(np.asarray, average)


def predict(forward, params, state, images):
    """Class numbers (..., N) for (N, H, W) uint8 images."""
    run = jax.jit(lambda x: forward(params, state, x, False)[0].argmax(-2))
    found = []
    for at in range(0, len(images), 500):
        x = images[at : at + 500].astype(np.float32) / 255
        found.append(np.asarray(run(x.transpose(1, 2, 0)[None])))
    return np.concatenate(found, -1)
