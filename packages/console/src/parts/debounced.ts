import { useEffect, useState } from 'react';

/** Returns the latest value after it has not changed for a short time (debounce). */
export function useDebounced<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), 250);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
