export { PostHogContext } from './PostHogContext.ts';
export { PostHogProvider } from './PostHogProvider.ts';
export type { PostHog } from './posthog-default.ts';
