import { createContext, useContext, useEffect } from 'react';

/** Sets the name of the open record. The title of the browser tab begins with it. */
export const RecordTitleContext = createContext<(name: string) => void>(() => {});

/** Shows the record's name in the title of the browser tab. `PageTitle` calls it with its own title. @param name empty until the record is loaded */
export function useRecordTitle(name: string): void {
  const setTitle = useContext(RecordTitleContext);
  useEffect(() => {
    setTitle(name);
    return () => setTitle('');
  }, [name, setTitle]);
}
