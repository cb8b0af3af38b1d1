/** Sample code for sending events with an SDK, including the project's API key and host. */
export interface Snippet {
  name: string;
  code: (key: string, host: string) => string;
}

const js = (text: string) => JSON.stringify(text);

export const snippets: readonly Snippet[] = [
  {
    name: 'Web',
    code: (key, host) => `<!-- in the head of every page -->
<script src="${host}/array/${key}/array.js"></script>
<script>
  posthog.init(${js(key)}, { api_host: ${js(host)} });
  posthog.capture('order placed', { total: 42 });
</script>`,
  },
  {
    name: 'React',
    code: (key, host) => `// npm install posthog-js
import posthog from 'posthog-js';
import { PostHogProvider } from 'posthog-js/react';

posthog.init(${js(key)}, { api_host: ${js(host)} });

export const Root = () => (
  <PostHogProvider client={posthog}>
    <App />
  </PostHogProvider>
);`,
  },
  {
    name: 'Node',
    code: (key, host) => `// npm install posthog-node
import { PostHog } from 'posthog-node';

const client = new PostHog(${js(key)}, { host: ${js(host)} });
client.capture({
  distinctId: 'ada',
  event: 'order placed',
  properties: { total: 42 },
});
await client.shutdown();`,
  },
  {
    name: 'Python',
    code: (key, host) => `# pip install posthog
from posthog import Posthog

client = Posthog(${js(key)}, host=${js(host)})
client.capture("order placed", distinct_id="ada",
               properties={"total": 42})
client.shutdown()`,
  },
  {
    name: 'Go',
    code: (key, host) => `// go get github.com/posthog/posthog-go
client, _ := posthog.NewWithConfig(${js(key)},
	posthog.Config{Endpoint: ${js(host)}})
defer client.Close()

client.Enqueue(posthog.Capture{
	DistinctId: "ada",
	Event:      "order placed",
	Properties: posthog.NewProperties().Set("total", 42),
})`,
  },
  {
    name: 'PHP',
    code: (key, host) => `// composer require posthog/posthog-php
PostHog\\PostHog::init('${key}', ['host' => '${host}']);
PostHog\\PostHog::capture([
  'distinctId' => 'ada',
  'event' => 'order placed',
  'properties' => ['total' => 42],
]);`,
  },
  {
    name: 'Ruby',
    code: (key, host) => `# gem install posthog-ruby
require 'posthog'

client = PostHog::Client.new(api_key: '${key}', host: '${host}')
client.capture(distinct_id: 'ada', event: 'order placed',
               properties: { total: 42 })
client.shutdown`,
  },
  {
    name: 'iOS',
    code: (key, host) => `// https://github.com/PostHog/posthog-ios
import PostHog

let config = PostHogConfig(apiKey: ${js(key)}, host: ${js(host)})
PostHogSDK.shared.setup(config)
PostHogSDK.shared.capture("order placed",
                          properties: ["total": 42])`,
  },
];

export const formatFirstEventCommand = (key: string, host: string) => `curl ${host}/capture/ \\
  -H 'Content-Type: application/json' \\
  -d '{"api_key":"${key}",
       "event":"hello","distinct_id":"ada"}'`;
