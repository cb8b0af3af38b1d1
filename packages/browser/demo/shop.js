/** A small shop that uses the library like any site would, and shows the events that it captures. */
const { posthog } = window;
const { projectApiKey } = document.documentElement.dataset;
const element = (id) => document.getElementById(id);
const on = (id, act) => element(id).addEventListener('click', act);
const basket = [];

/** Creates an element with text content, which is never interpreted as HTML. */
function made(tag, text, ...children) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

function showEvent({ event, properties, $set, $set_once, timestamp }) {
  const all = { ...properties, ...($set && { $set }), ...($set_once && { $set_once }) };
  const rows = Object.entries(all).map(([name, value]) =>
    made('tr', undefined, Object.assign(made('th', name), { scope: 'row' }), made('td', JSON.stringify(value))),
  );
  const table = made('table', undefined, made('caption', `Properties of ${event}`), made('tbody', undefined, ...rows));
  const time = timestamp.toISOString().slice(11, 23);
  const details = made('details', undefined, made('summary', `${time} ${event}`), table);
  element('events').prepend(made('li', undefined, details));
  element('count').textContent = `${element('events').children.length} so far, newest first.`;
  showIdentity();
}

function showIdentity() {
  const known = {
    'Distinct ID': posthog.get_distinct_id(),
    Session: posthog.get_session_id(),
    Groups: JSON.stringify(posthog.getGroups()),
  };
  const pairs = Object.entries(known).flatMap(([name, value]) => [made('dt', name), made('dd', value)]);
  element('identity').replaceChildren(...pairs);
  const said = {
    granted: 'You have given consent.',
    denied: 'You have declined. No events are captured.',
    pending: 'You have not decided yet.',
  };
  element('consent').textContent = said[posthog.get_explicit_consent_status()];
}

function showFlags() {
  const values = posthog.featureFlags.getFlagVariants();
  const rows = Object.entries(values).map(([key, value]) =>
    made(
      'tr',
      undefined,
      Object.assign(made('th', key), { scope: 'row' }),
      made('td', String(value)),
      made('td', JSON.stringify(posthog.getFeatureFlagPayload(key) ?? 'none')),
    ),
  );
  element('flags').replaceChildren(...rows);
  element('news').hidden = !posthog.isFeatureEnabled('new-home-page');
  element('staff').hidden = !posthog.isFeatureEnabled('staff-tools');
  document.body.dataset.buttonColor = String(posthog.getFeatureFlag('button-color') ?? 'control');
}

for (const button of document.querySelectorAll('[data-product]')) {
  button.addEventListener('click', () => {
    const { product, price } = button.dataset;
    basket.push(Number(price));
    element('basket').textContent = `Items in the basket: ${basket.length}.`;
    posthog.capture('product added', { product, price: Number(price) });
  });
}
on('order', () => {
  if (basket.length === 0) return;
  const total = basket.splice(0).reduce((sum, price) => sum + price, 0);
  element('basket').textContent = 'Order placed. The basket is empty.';
  posthog.capture('order placed', { total, currency: 'EUR' });
});
element('search').addEventListener('submit', (submission) => {
  submission.preventDefault();
  // Captures that a search happened, but not the search terms, which are private.
  posthog.capture('shelf searched', { found: 3 });
});
on('sign-in', () => posthog.identify('ada', { email: 'ada@example.com', plan: 'pro' }));
on('join', () => posthog.group('company', 'acme', { name: 'Acme' }));
on('sign-out', () => {
  posthog.reset();
  showIdentity();
});
on('agree', () => {
  posthog.opt_in_capturing();
  showIdentity();
});
on('refuse', () => {
  posthog.opt_out_capturing();
  showIdentity();
});
on('reload', () => posthog.reloadFeatureFlags());

// Subscribe before `init`, which captures the first page view.
posthog.on('eventCaptured', showEvent);
posthog.onFeatureFlags(showFlags);
posthog.init(projectApiKey, { capture_pageview: 'history_change' });
showIdentity();
