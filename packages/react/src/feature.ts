// A component that shows its children if a feature flag has a certain value.

import type { FlagKey, FlagValue } from '@millrace/browser';
import { createElement, type HTMLProps, type ReactElement, type ReactNode } from 'react';
import { type PostHog, usePostHog } from './context.ts';
import { useFeatureFlagPayload, useFeatureFlagVariantKey } from './feature-flags.ts';
import { isFunction, isUndefined } from './values.ts';
import { VisibilityAndClickTrackers } from './viewed.ts';

export type PostHogFeatureProps = Omit<HTMLProps<HTMLDivElement>, 'children'> & {
  flag: FlagKey;
  /** The value for which the children are shown. Without it, any known value shows them. */
  match?: FlagValue;
  /** The content, or a function that returns it and receives the flag's payload. */
  // biome-ignore lint/suspicious/noExplicitAny: the application declares the type of its payloads here
  children?: ReactNode | ((payload: any) => ReactNode);
  /** The content to show if the flag has another value. It is not tracked. */
  fallback?: ReactNode;
  /**
   * Options of the observer that detects when the feature comes into view. By default, a tenth of it must be visible.
   */
  visibilityObserverOptions?: IntersectionObserverInit;
  trackInteraction?: boolean;
  trackView?: boolean;
};

/** Shows its children if the flag has the requested value, and captures that they were viewed and clicked. */
export function PostHogFeature({
  flag,
  match,
  children,
  fallback = null,
  visibilityObserverOptions,
  trackInteraction = true,
  trackView = true,
  ...props
}: PostHogFeatureProps): ReactElement | null {
  const posthog = usePostHog();
  const flagVariant = useFeatureFlagVariantKey(flag);
  const payload = useFeatureFlagPayload(flag);
  const isHidden = isUndefined(flagVariant) || (!isUndefined(match) && flagVariant !== match);
  // Any node can be returned, but the types of older React versions only allow elements.
  if (isHidden) return fallback as ReactElement | null;

  const feature = { flag, posthog, flagVariant };
  return createElement(
    VisibilityAndClickTrackers,
    {
      // Every wrapper gets the `flag` attribute, as in PostHog's component: applications use it in style sheets and
      // snapshots.
      wrapperProps: { flag, ...props },
      observerOptions: visibilityObserverOptions,
      onFirstClick: trackInteraction ? () => captureFeatureInteraction(feature) : undefined,
      onFirstView: trackView ? () => captureFeatureView(feature) : undefined,
    },
    isFunction(children) ? children(payload) : children,
  );
}

interface CaptureFeatureOptions {
  flag: string;
  posthog: PostHog;
  flagVariant?: FlagValue | undefined;
}

/** Captures that the person used a feature, and sets a person property for it. */
export function captureFeatureInteraction(options: CaptureFeatureOptions): void {
  captureFeature('$feature_interaction', options);
}

/** Captures that the person saw a feature, and sets a person property for it. */
export function captureFeatureView(options: CaptureFeatureOptions): void {
  captureFeature('$feature_view', options);
}

function captureFeature(event: string, { flag, posthog, flagVariant }: CaptureFeatureOptions): void {
  posthog.capture(event, {
    feature_flag: flag,
    ...(typeof flagVariant === 'string' && { feature_flag_variant: flagVariant }),
    $set: { [`${event}/${flag}`]: flagVariant ?? true },
  });
}
