import type { FlagValue } from '@millrace/browser';
import type { PostHog } from '../context/posthog.ts';

export interface CaptureFeatureOptions {
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
