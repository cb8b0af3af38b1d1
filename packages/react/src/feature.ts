// Shows content only if a feature flag has a given value.

import type { FlagKey, FlagValue } from '@millrace/browser';
import { createElement, type HTMLProps, type ReactElement, type ReactNode } from 'react';
import { type PostHog, usePostHog } from './context.ts';
import { useFeatureFlagPayload, useFeatureFlagVariantKey } from './feature-flags.ts';
import { isFunction, isUndefined } from './values.ts';
import { VisibilityAndClickTrackers } from './viewed.ts';

export type PostHogFeatureProps = Omit<HTMLProps<HTMLDivElement>, 'children'> & {
  flag: FlagKey;
  /** The children are shown if the flag has this value. If undefined, they are shown for any value of a known flag. */
  match?: FlagValue;
  /** The content, or a function that receives the flag's payload and returns the content. */
  // biome-ignore lint/suspicious/noExplicitAny: the application declares the type of its payloads here
  children?: ReactNode | ((payload: any) => ReactNode);
  /** The content to show for other flag values. Views and clicks of this content are not captured. */
  fallback?: ReactNode;
  /**
   * Options of the `IntersectionObserver` that detects when the content becomes visible. By default, a tenth of the
   * content must be visible.
   */
  visibilityObserverOptions?: IntersectionObserverInit;
  trackInteraction?: boolean;
  trackView?: boolean;
};

/** Shows its children if the flag has the value in `match`. Captures when the person views or clicks the children. */
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
  // The cast is necessary because the types of older React versions allow only elements here.
  if (isHidden) return fallback as ReactElement | null;

  const feature = { flag, posthog, flagVariant };
  return createElement(
    VisibilityAndClickTrackers,
    {
      // As in PostHog's component, every wrapper has the attribute `flag`, because applications use it in style sheets
      // and snapshots.
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
