import { Type } from 'typebox';
import type { EvaluationReason } from './evaluation-reasons.ts';

const nullable = (type: string, description: string) => ({ type: [type, 'null'], description });

/** What every flag is and why, by its key. */
export const evaluationReasonsAnswer = Type.Unsafe<Record<string, EvaluationReason>>({
  type: 'object',
  description: 'By the key of the flag.',
  additionalProperties: {
    type: 'object',
    required: ['value', 'evaluation', 'explanation'],
    properties: {
      value: { type: ['boolean', 'string'], description: 'Its variant, else whether it is on.' },
      evaluation: {
        type: 'object',
        required: ['reason', 'condition_index', 'description'],
        properties: {
          reason: { type: 'string', description: 'Code of the reason.' },
          condition_index: nullable('integer', 'The condition that decided, from 0.'),
          description: { type: 'string', description: 'The reason in words.' },
        },
      },
      explanation: {
        ...nullable('object', 'How it came to that.'),
        additionalProperties: true,
      },
    },
  },
});

export const evaluationReasonsExample: Record<string, EvaluationReason> = {
  'new-checkout': {
    value: true,
    evaluation: { reason: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
    explanation: {
      hashed: 'distinct_id',
      holdout: null,
      enrollment: null,
      conditions: [
        {
          outcome: 'match',
          filters: [{ about: 'person', key: 'plan', source: 'stored', property: 'plan', outcome: true }],
          rollout: { percentage: 50, hash: 0.2318 },
        },
      ],
      variant_hash: null,
    },
  },
};
