import type { Metafile } from "esbuild";

/** The package that is published. */
export const HOST: string;
export const BUNDLED: readonly string[];
export function bundle(outdir: string): Promise<Metafile>;
