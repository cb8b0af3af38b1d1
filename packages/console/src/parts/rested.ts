import { useEffect, useState } from 'react';

/** A value that has not changed for a moment. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), 250);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
