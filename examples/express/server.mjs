import express from 'express';
import { PostHog } from 'posthog-node';

const { POSTHOG_HOST, POSTHOG_KEY, PORT = '3000' } = process.env;
if (!POSTHOG_HOST || !POSTHOG_KEY) throw new Error('Set POSTHOG_HOST and POSTHOG_KEY.');

const posthog = new PostHog(POSTHOG_KEY, { host: POSTHOG_HOST });
const app = express();

// A real app would read the user from the session.
const userOf = (request) => String(request.query.user ?? 'anonymous');

app.get('/checkout', async (request, response) => {
  const flags = await posthog.evaluateFlags(userOf(request));
  response.send(flags.isEnabled('new-checkout') ? 'Checkout in one step\n' : 'Checkout in three steps\n');
});

app.post('/orders', async (request, response) => {
  // With `flags`, the event records which version of the checkout the user saw.
  const flags = await posthog.evaluateFlags(userOf(request));
  posthog.capture({
    distinctId: userOf(request),
    event: 'order placed',
    properties: { total: 42, currency: 'EUR', $set: { last_order_total: 42 } },
    groups: { company: 'corner-shop' },
    flags,
  });
  response.status(201).send('Thank you\n');
});

const server = app.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${server.address().port}`),
);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(async () => {
      await posthog.shutdown();
      process.exit(0);
    });
    server.closeIdleConnections();
  });
}
