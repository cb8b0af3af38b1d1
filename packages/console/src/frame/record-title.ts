import { createContext, useContext, useEffect } from 'react';

/** A setter for the name of the open record. The browser tab's title begins with this name. */
export const RecordTitleContext = createContext<(name: string) => void>(() => {});

/** Begins the browser tab's title with the record's name. @param name an empty string until the record is loaded */
export function useRecordTitle(name: string): void {
  const setTitle = useContext(RecordTitleContext);
  useEffect(() => {
    setTitle(name);
    return () => setTitle('');
  }, [name, setTitle]);
}
