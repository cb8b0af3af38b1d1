import type { FlagKey, FlagValue } from '@millrace/browser';
import { createElement, type HTMLProps, type ReactElement, type ReactNode } from 'react';
import { type PostHog, usePostHog } from './context.ts';
import { useFeatureFlagPayload, useFeatureFlagVariantKey } from './feature-flags.ts';
import { isFunction, isUndefined } from './values.ts';
import { VisibilityAndClickTrackers } from './viewed.ts';

export type PostHogFeatureProps = Omit<HTMLProps<HTMLDivElement>, 'children'> & {
  flag: FlagKey;
  /** The value to show the children for; without it, any value that is known. */
  match?: FlagValue;
  /** What to show, or a function of the flag's payload that says it. */
  // biome-ignore lint/suspicious/noExplicitAny: the application knows its payloads, and names their type here
  children?: ReactNode | ((payload: any) => ReactNode);
  /** Shown instead when the flag has another value; it is not tracked. */
  fallback?: ReactNode;
  /** For the observer that sees the feature come into view; a tenth of it suffices by default. */
  visibilityObserverOptions?: IntersectionObserverInit;
  trackInteraction?: boolean;
  trackView?: boolean;
};

/** Shows its children to whom the flag says, and captures that they were seen and used. */
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
  // Whatever can be rendered may be returned; the types of older versions of React name only elements.
  if (isHidden) return fallback as ReactElement | null;

  const feature = { flag, posthog, flagVariant };
  return createElement(
    VisibilityAndClickTrackers,
    {
      // On each wrapper, where style sheets and snapshots of applications know it from PostHog's component.
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

/** Captures that the person has used a feature, and remembers it on the person. */
export function captureFeatureInteraction(options: CaptureFeatureOptions): void {
  captureFeature('$feature_interaction', options);
}

/** Captures that the person has seen a feature, and remembers it on the person. */
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
