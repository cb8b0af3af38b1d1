import { createContext, useContext, useEffect } from 'react';

/** Sets the name of the open record, with which the browser tab's title begins. */
export const RecordTitleContext = createContext<(name: string) => void>(() => {});

/** Shows the record's name in the browser tab's title. @param name empty until the record is loaded */
export function useRecordTitle(name: string): void {
  const setTitle = useContext(RecordTitleContext);
  useEffect(() => {
    setTitle(name);
    return () => setTitle('');
  }, [name, setTitle]);
}
