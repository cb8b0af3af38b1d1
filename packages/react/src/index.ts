export { PostHogProvider, PostHogProvider as MillraceProvider } from './context/PostHogProvider.ts';
export * from './shared.ts';
