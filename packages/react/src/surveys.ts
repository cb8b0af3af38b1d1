// A hook for surveys with a thumbs-up and a thumbs-down button. The application renders the elements.

import type { Properties, SurveyPosition } from '@millrace/browser';
import { type RefCallback, useCallback, useEffect, useId, useRef, useState } from 'react';
import { usePostHog } from './context.ts';

export type ThumbResponse = 'up' | 'down';

export interface UseThumbSurveyOptions {
  surveyId: string;
  /** The position of the follow-up questions. By default, they appear next to the trigger. */
  displayPosition?: SurveyPosition;
  properties?: Properties;
  onResponse?: (response: ThumbResponse) => void;
  /** If true, `survey shown` is captured when the application calls `trackShown`, not on mount. */
  disableAutoShownTracking?: boolean;
}

export interface UseThumbSurveyResult {
  /** Records the first response. Further calls have no effect. */
  respond: (value: ThumbResponse) => void;
  response: ThumbResponse | null;
  /** The ref for the element that follow-up questions appear next to. */
  triggerRef: RefCallback<HTMLElement>;
  trackShown?: () => void;
}

const ratings = { up: 1, down: 2 } as const;

const triggerAttribute = 'data-thumb-survey';

/** Runs a survey with a thumbs-up and a thumbs-down button. The application renders its elements. */
export function useThumbSurvey({
  surveyId,
  displayPosition = 'next_to_trigger',
  properties,
  onResponse,
  disableAutoShownTracking = false,
}: UseThumbSurveyOptions): UseThumbSurveyResult {
  const posthog = usePostHog();
  const triggerId = useId();
  const [response, setResponse] = useState<ThumbResponse | null>(null);
  const done = useRef({ isShown: false, hasResponse: false });

  const trackShown = useCallback(() => {
    if (!posthog || done.current.isShown) return;
    done.current.isShown = true;
    posthog.capture('survey shown', {
      $survey_id: surveyId,
      sessionRecordingUrl: posthog.get_session_replay_url?.(),
      ...properties,
    });
  }, [posthog, surveyId, properties]);

  useEffect(() => {
    if (!disableAutoShownTracking) trackShown();
  }, [disableAutoShownTracking, trackShown]);

  function respond(value: ThumbResponse): void {
    if (done.current.hasResponse) return;
    done.current.hasResponse = true;
    setResponse(value);
    onResponse?.(value);
    posthog?.surveys?.displaySurvey(surveyId, {
      displayType: 'popover',
      ignoreConditions: true,
      ignoreDelay: true,
      skipShownEvent: true,
      initialResponses: { 0: ratings[value] },
      position: displayPosition,
      selector: `[${triggerAttribute}="${triggerId}"]`,
      properties,
    });
  }

  const triggerRef = useCallback(
    (element: HTMLElement | null) => {
      element?.setAttribute(triggerAttribute, triggerId);
    },
    [triggerId],
  );

  return { respond, response, triggerRef, ...(disableAutoShownTracking && { trackShown }) };
}
