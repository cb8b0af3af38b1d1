import type { CaptureResult } from '@millrace/browser';
import type { ErrorInfo } from 'react';
import type { PostHog } from '../context/posthog-default.ts';
import { addReactComponentStack } from './react-component-stack.ts';

/** For `onUncaughtError`, `onCaughtError` and `onRecoverableError` of React 19's roots: captures the error. */
export function setupReactErrorHandler(
  client: PostHog,
  // biome-ignore lint/suspicious/noExplicitAny: whatever was thrown, which applications mostly take for an error
  callback?: (event: CaptureResult | undefined, error: any, errorInfo: ErrorInfo) => void,
): (error: unknown, errorInfo: ErrorInfo) => void {
  return (error, errorInfo) => {
    const event = client.captureException(addReactComponentStack(error, errorInfo.componentStack));
    callback?.(event, error, errorInfo);
  };
}
