import { createContext, useContext, useEffect } from 'react';

/** Sets the name of the open record, which the title of the tab begins with. */
export const RecordTitleContext = createContext<(name: string) => void>(() => {});

/** Names the record that a page shows in the title of the tab. `PageTitle` does it for its own title. @param name empty until it is loaded */
export function useRecordTitle(name: string): void {
  const setTitle = useContext(RecordTitleContext);
  useEffect(() => {
    setTitle(name);
    return () => setTitle('');
  }, [name, setTitle]);
}
