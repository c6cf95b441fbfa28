/** Under `npm test` the environment carries the settings of this workspace; an install elsewhere must not see them. */
export function plainNpmEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|config_(local_prefix|prefix|workspace))/i.test(name)),
  );
}
