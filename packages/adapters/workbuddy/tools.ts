export { claudeStyleTools as workbuddyTools } from "@foldcast/adapter-kit/claude-style-tools";
