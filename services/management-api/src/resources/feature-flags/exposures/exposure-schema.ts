import { Type } from 'typebox';
import type { Exposures } from './to-exposures.ts';

const counts = {
  variant: Type.String({
    description:
      'What SDKs got: a variant, `true` or `false`. `$multiple`: persons who got more than one; `$none`: no answer; `$other`: rare answers behind the 50 most frequent.',
  }),
  exposures: Type.Integer({ description: 'Calls of the flag.' }),
  persons: Type.Integer({
    description: 'Distinct persons, each once: with the variant, on the day of the first call.',
  }),
  conversions: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'How many of these persons did the conversion event from their first call on; null when none is named.',
  }),
};

export const exposuresAnswer = Type.Object(
  {
    date_from: Type.String({ format: 'date-time', description: 'From then on.' }),
    date_to: Type.String({ format: 'date-time', description: 'Until then.' }),
    timezone: Type.String({ description: 'Time zone of the days: that of the project.' }),
    conversion_event: Type.Union([Type.String(), Type.Null()], { description: 'What was asked for.' }),
    persons: Type.Integer({ description: 'Distinct persons of all variants.' }),
    exposures: Type.Integer({ description: 'Calls of all variants.' }),
    variants: Type.Array(Type.Object(counts), { description: 'Of the whole time.' }),
    days: Type.Array(Type.Object({ day: Type.String({ format: 'date', description: 'The day.' }), ...counts }), {
      description: 'Days on which the flag was called.',
    }),
  },
  { title: 'FeatureFlagExposures' },
);

export const exposuresExample: Exposures = {
  date_from: '2026-11-01T00:00:00Z',
  date_to: '2026-11-22T00:00:00Z',
  timezone: 'UTC',
  conversion_event: 'order placed',
  persons: 2,
  exposures: 3,
  variants: [
    { variant: 'control', exposures: 1, persons: 1, conversions: 0 },
    { variant: 'test', exposures: 2, persons: 1, conversions: 1 },
  ],
  days: [
    { day: '2026-11-20', variant: 'control', exposures: 1, persons: 1, conversions: 0 },
    { day: '2026-11-20', variant: 'test', exposures: 2, persons: 1, conversions: 1 },
  ],
};
