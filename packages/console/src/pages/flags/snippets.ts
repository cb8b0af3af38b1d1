// Code examples for a feature flag in each SDK.

import type { Snippet } from '../../sending/snippets.ts';
import type { Flag } from './flag.ts';

interface Use {
  key: string;
  /** The variant that the sample code checks for. Null for a boolean flag. */
  variant: string | null;
  hasPayload: boolean;
}

type SnippetOf = (use: Use) => Snippet;

const js = (text: string) => JSON.stringify(text);
/** Quotes a string with single quotes, for languages that interpolate double-quoted strings. */
const single = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const lines = (...texts: (string | false)[]) => texts.filter((text) => text !== false).join('\n');

const web: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'Web',
  code: () =>
    lines(
      '// Flags are there once they have been loaded.',
      'posthog.onFeatureFlags(() => {',
      variant === null
        ? `  if (posthog.isFeatureEnabled(${js(key)})) {`
        : `  if (posthog.getFeatureFlag(${js(key)}) === ${js(variant)}) {`,
      hasPayload && `    const payload = posthog.getFeatureFlagPayload(${js(key)});`,
      '    // your code',
      '  }',
      '});',
    ),
});

const react: SnippetOf = ({ key, variant, hasPayload }) => {
  const hook = variant === null ? 'useFeatureFlagEnabled' : 'useFeatureFlagVariantKey';
  return {
    name: 'React',
    code: () =>
      lines(
        `import { ${hook}${hasPayload ? ', useFeatureFlagPayload' : ''} } from 'posthog-js/react';`,
        '',
        'export function Feature() {',
        variant === null
          ? `  const isOn = ${hook}(${js(key)});`
          : `  const isOn = ${hook}(${js(key)}) === ${js(variant)};`,
        hasPayload && `  const payload = useFeatureFlagPayload(${js(key)});`,
        '  return isOn ? <New /> : <Old />;',
        '}',
      ),
  };
};

const node: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'Node',
  code: (token, host) =>
    lines(
      '// npm install posthog-node',
      `const client = new PostHog(${js(token)}, { host: ${js(host)} });`,
      '',
      variant === null
        ? `if (await client.isFeatureEnabled(${js(key)}, 'distinct-id')) {`
        : `if ((await client.getFeatureFlag(${js(key)}, 'distinct-id')) === ${js(variant)}) {`,
      hasPayload && `  const payload = await client.getFeatureFlagPayload(${js(key)}, 'distinct-id');`,
      '  // your code',
      '}',
    ),
});

const python: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'Python',
  code: (token, host) =>
    lines(
      '# pip install posthog',
      `client = Posthog(${js(token)}, host=${js(host)})`,
      '',
      variant === null
        ? `if client.feature_enabled(${js(key)}, "distinct-id"):`
        : `if client.get_feature_flag(${js(key)}, "distinct-id") == ${js(variant)}:`,
      hasPayload && `    payload = client.get_feature_flag_payload(${js(key)}, "distinct-id")`,
      '    ...  # your code',
    ),
});

const go: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'Go',
  code: (token, host) =>
    lines(
      '// go get github.com/posthog/posthog-go',
      `client, _ := posthog.NewWithConfig(${js(token)},`,
      `	posthog.Config{Endpoint: ${js(host)}})`,
      'defer client.Close()',
      '',
      `flag := posthog.FeatureFlagPayload{Key: ${js(key)}, DistinctId: "distinct-id"}`,
      variant === null
        ? 'if isOn, _ := client.IsFeatureEnabled(flag); isOn == true {'
        : `if value, _ := client.GetFeatureFlag(flag); value == ${js(variant)} {`,
      hasPayload && '	payload, _ := client.GetFeatureFlagPayload(flag)',
      '	// your code',
      '}',
    ),
});

const php: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'PHP',
  code: (token, host) =>
    lines(
      '// composer require posthog/posthog-php',
      `PostHog\\PostHog::init(${single(token)}, ['host' => ${single(host)}]);`,
      '',
      variant === null
        ? `if (PostHog\\PostHog::isFeatureEnabled(${single(key)}, 'distinct-id')) {`
        : `if (PostHog\\PostHog::getFeatureFlag(${single(key)}, 'distinct-id') === ${single(variant)}) {`,
      hasPayload && `  $payload = PostHog\\PostHog::getFeatureFlagPayload(${single(key)}, 'distinct-id');`,
      '  // your code',
      '}',
    ),
});

const ruby: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'Ruby',
  code: (token, host) =>
    lines(
      '# gem install posthog-ruby',
      `client = PostHog::Client.new(api_key: ${single(token)}, host: ${single(host)})`,
      '',
      variant === null
        ? `if client.is_feature_enabled(${single(key)}, 'distinct-id')`
        : `if client.get_feature_flag(${single(key)}, 'distinct-id') == ${single(variant)}`,
      hasPayload && `  payload = client.get_feature_flag_payload(${single(key)}, 'distinct-id')`,
      '  # your code',
      'end',
    ),
});

const ios: SnippetOf = ({ key, variant, hasPayload }) => ({
  name: 'iOS',
  code: () =>
    lines(
      variant === null
        ? `if PostHogSDK.shared.isFeatureEnabled(${js(key)}) {`
        : `if PostHogSDK.shared.getFeatureFlag(${js(key)}) as? String == ${js(variant)} {`,
      hasPayload && `    let payload = PostHogSDK.shared.getFeatureFlagPayload(${js(key)})`,
      '    // your code',
      '}',
    ),
});

const curl: SnippetOf = () => ({
  name: 'curl',
  code: (token, host) =>
    lines(
      `curl '${host}/flags/?v=2' \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"api_key":"${token}","distinct_id":"distinct-id"}'`,
    ),
});

export function createSnippets({ key, filters: { multivariate, payloads } }: Flag): Snippet[] {
  // The sample code checks for the last variant, because the first variant is the control by convention.
  const variant = multivariate?.variants.at(-1)?.key ?? null;
  const hasPayload = Object.values(payloads ?? {}).some((payload) => payload !== null && payload !== '');
  return [web, react, node, python, go, php, ruby, ios, curl].map((of) => of({ key, variant, hasPayload }));
}
