export { claudeStyleTools as qoderTools } from "@foldcast/adapter-kit/claude-style-tools";
