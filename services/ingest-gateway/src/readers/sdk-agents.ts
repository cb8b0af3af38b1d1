/** What is known of an SDK from the name in its `User-Agent`. */
interface Sdk {
  /** Where it runs, as far as `evaluation_runtime` of a flag is concerned. */
  runtime: 'client' | 'server';
  /** Whether it sends a batch again after 429 (docs/wire-rules.md#how-sdks-react-to-responses). */
  retriesOn429: boolean;
}

const server: Sdk = { runtime: 'server', retriesOn429: true };
const client: Sdk = { runtime: 'client', retriesOn429: true };

/**
 * The names that PostHog's SDKs send as `posthog-<name>/<version>`, from their sources (docs/flags.md#runtimes). Most of those in
 * browsers cannot set the header. Of the others Elixir and Unity are not known to repeat after 429, and the legacy Java SDK does not.
 */
const sdks: ReadonlyMap<string, Sdk> = new Map([
  ['python', server],
  ['node', server],
  ['edge', server],
  ['convex', server],
  ['go', server],
  ['ruby', server],
  ['php', server],
  ['rs', server],
  ['server', server],
  ['dotnet', server],
  ['elixir', { ...server, retriesOn429: false }],
  ['java', { ...server, retriesOn429: false }],
  ['android', client],
  ['ios', client],
  ['react-native', client],
  ['flutter', client],
  ['kmp', client],
  ['js-lite', client],
  ['js', { ...client, retriesOn429: false }],
  ['unity', { ...client, retriesOn429: false }],
]);

/** Null for a program that is not known. */
export function sdkOf(userAgent: string | undefined): Sdk | null {
  const name = /^posthog-([a-z-]+)\//i.exec(userAgent ?? '')?.[1];
  return name === undefined ? null : (sdks.get(name.toLowerCase()) ?? null);
}
