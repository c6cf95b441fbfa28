export * from "./policy.ts";
export * from "./deliver.ts";
