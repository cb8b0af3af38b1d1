import { posthog } from '@millrace/browser';
import { setDefaultPostHogInstance } from './context.ts';

// The default client makes hooks work without a provider, and is the client that a provider starts. The slim entry has
// no default client.
setDefaultPostHogInstance(posthog);

export { PostHogProvider, PostHogProvider as MillraceProvider } from './provider.ts';
export * from './shared.ts';
