import { type CaptureQuery, parseCaptureQuery } from '../head/capture-query.ts';
import type { FlagPath } from './flag-path.ts';

/** How a question wants to be answered. */
export interface FlagQuery {
  /** What stands in for a body, and how the body is encoded. */
  body: CaptureQuery;
  /** Of a question without a body. */
  distinctId: string | null;
  shape: AnswerShape;
  /** Whether the answer carries what browsers are told to do, as well. */
  withConfig: boolean;
  onlySurveys: boolean;
  /** The stored properties of the person are not looked at. */
  onlySentProperties: boolean;
}

/**
 * `keys`: a list of the flags that are on. `on`: an object of them. `values`: all of them, with payloads. `details`: with
 * reasons as well.
 */
export type AnswerShape = 'keys' | 'on' | 'values' | 'details';

/** @param text the text after `?`; empty when there is none. */
export function parseFlagQuery(path: FlagPath, text: string): FlagQuery {
  const values = new URLSearchParams(text);
  const isOn = (name: string) => /^(?:true|1)$/i.test(values.get(name) ?? '');
  const version = values.get('v');
  const asksNothing = version === null && !values.has('config');
  return {
    body: parseCaptureQuery(text),
    distinctId: values.get('distinct_id'),
    shape: path === '/decide' ? shapeOfDecide(version) : asksNothing ? 'details' : shapeOfFlags(version),
    withConfig: path === '/decide' || asksNothing || isOn('config'),
    onlySurveys: isOn('only_evaluate_survey_feature_flags'),
    onlySentProperties: isOn('only_use_override_person_properties'),
  };
}

function shapeOfFlags(version: string | null): AnswerShape {
  return numberOf(version) >= 2 ? 'details' : 'values';
}

function shapeOfDecide(version: string | null): AnswerShape {
  const number = numberOf(version);
  if (number >= 4) return 'details';
  if (number === 3) return 'values';
  return number === 2 ? 'on' : 'keys';
}

/** 0 for what is no whole number. */
function numberOf(version: string | null): number {
  return version !== null && /^-?\d{1,9}$/.test(version) ? Number(version) : 0;
}
