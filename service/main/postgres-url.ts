/** What is wrong with a URI of Postgres, without repeating it; undefined when nothing is. */
export function postgresUrlProblem(url: string): string | undefined {
  const expected = 'expected postgres://user:password@host:port/database';
  if (!URL.canParse(url)) return `${expected}, got something else`;
  const { protocol } = new URL(url);
  return protocol === 'postgres:' || protocol === 'postgresql:' ? undefined : `${expected}, got ${protocol}//`;
}
