import { seededRandom } from '@millrace/testing/seeded-random';

const words = 'amber basin cedar delta ember fjord grove harbor island jetty knoll lagoon meadow north orchard'.split(
  ' ',
);

/**
 * Properties such as SDKs and applications send, their JSON about `bytes` long (at least the fixed ones): the usual
 * `$` defaults, numbers, a list, a nested object, then free text up to the size.
 */
export function fillerProperties(seed: number, bytes: number): Record<string, unknown> {
  const random = seededRandom(seed + 1);
  const word = () => words[Math.floor(random() * words.length)] ?? 'word';
  const properties: Record<string, unknown> = {
    $lib: 'web',
    $lib_version: '1.434.1',
    $browser: 'Firefox',
    $os: 'Linux',
    $current_url: `https://shop.example/${word()}/${word()}?page=${Math.floor(random() * 90)}`,
    $session_id: `session-${Math.floor(random() * 1e9)}`,
    amount: Math.floor(random() * 10_000) / 100,
    currency: 'EUR',
    is_first: random() < 0.5,
    tags: [word(), word(), word()],
    cart: { items: Math.floor(random() * 9), coupon: null, shipping: word() },
  };
  let length = JSON.stringify(properties).length;
  for (let index = 0; length < bytes - 24; index++) {
    const name = `note_${index}`;
    const overhead = name.length + 6;
    const target = Math.min(90, bytes - length - overhead);
    let text = word();
    while (text.length < target) text += ` ${word()}`;
    properties[name] = text.slice(0, Math.max(1, target));
    length += overhead + String(properties[name]).length;
  }
  return properties;
}
