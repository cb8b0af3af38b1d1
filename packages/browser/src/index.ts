import { createCaptureException, createExceptions } from './exceptions/create-exceptions.ts';
import { getFullBuildDefaults, readValidatedOptions } from './options/check-options.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { captureVitals } from './web-vitals/capture-vitals.ts';
import { createWebVitals } from './web-vitals/web-vitals.ts';

export type * from './client/client.ts';
export type * from './client/options.ts';
export type * from './client/posthog-names.ts';
export type * from './client/values.ts';

/** The application's client. Call `init` to start it. */
export const posthog = createClient({
  features: fullFeatures(createExceptions, createWebVitals(captureVitals)),
  always: createCaptureException,
  readOptions: readValidatedOptions,
  fullBuildOptions: getFullBuildDefaults,
});
/** @alias of `posthog` */
// biome-ignore lint/style/noDefaultExport: applications use the default import
export default posthog;

// Constants for applications that display their own surveys and capture the responses. This library does not display
// surveys.

export const SurveyEventName = {
  SHOWN: 'survey shown',
  DISMISSED: 'survey dismissed',
  SENT: 'survey sent',
  ABANDONED: 'survey abandoned',
} as const;

export const SurveyEventProperties = {
  SURVEY_ID: '$survey_id',
  SURVEY_NAME: '$survey_name',
  SURVEY_RESPONSE: '$survey_response',
  SURVEY_ITERATION: '$survey_iteration',
  SURVEY_ITERATION_START_DATE: '$survey_iteration_start_date',
  SURVEY_PARTIALLY_COMPLETED: '$survey_partially_completed',
  SURVEY_SUBMISSION_ID: '$survey_submission_id',
  SURVEY_QUESTIONS: '$survey_questions',
  SURVEY_COMPLETED: '$survey_completed',
  SURVEY_LAST_SEEN_DATE: '$survey_last_seen_date',
  SURVEY_LANGUAGE: '$survey_language',
} as const;

export const DisplaySurveyType = { Popover: 'popover', Inline: 'inline' } as const;

export const SurveyPosition = {
  TopLeft: 'top_left',
  TopRight: 'top_right',
  TopCenter: 'top_center',
  MiddleLeft: 'middle_left',
  MiddleRight: 'middle_right',
  MiddleCenter: 'middle_center',
  Left: 'left',
  Center: 'center',
  Right: 'right',
  NextToTrigger: 'next_to_trigger',
} as const;
export type SurveyPosition = (typeof SurveyPosition)[keyof typeof SurveyPosition];
