import { useState } from 'react';
import { isDeepEqual } from './object-utils.ts';

/** The value of the first render that said the same, for comparing by identity what is written anew in each render. */
export function useStable<Value>(value: Value): Value {
  const [kept, keep] = useState({ value });
  if (isDeepEqual(kept.value, value)) return kept.value;
  keep({ value });
  return value;
}
