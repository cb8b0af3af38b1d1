import { randomUUID } from 'node:crypto';
import { checkText, invalidField } from '../input/account-input.ts';
import { newProjectToken } from '../keys/key-values.ts';
import { isTimeZone } from './time-zone.ts';

export interface NewEnvironmentSettings {
  /** 1 to 200 characters; `Default project` by default. */
  name?: string;
  /** IANA name; `UTC` by default. */
  timezone?: string;
  anonymizeIps?: boolean;
  isDemo?: boolean;
  personProcessingOptOut?: boolean;
}

/** The columns of a new environment, with a fresh uuid and API token. @throws AppError `invalid` naming the field. */
export function newEnvironmentColumns(settings: NewEnvironmentSettings) {
  return {
    uuid: randomUUID(),
    api_token: newProjectToken(),
    name: checkText('name', settings.name ?? 'Default project', { maxLength: 200 }),
    timezone: checkTimezone(settings.timezone ?? 'UTC'),
    anonymize_ips: settings.anonymizeIps ?? false,
    is_demo: settings.isDemo ?? false,
    person_processing_opt_out: settings.personProcessingOptOut ?? false,
  };
}

function checkTimezone(timezone: string): string {
  if (isTimeZone(timezone)) return timezone;
  throw invalidField('timezone', 'invalid_choice', `"${timezone}" is not a valid choice.`);
}
