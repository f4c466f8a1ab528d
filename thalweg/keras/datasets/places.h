// Where data sets lie.
#pragma once
#include <string>

#include "thalweg/core/export.h"

namespace thalweg::keras {

/// Keras's folder: KERAS_HOME, else ~/.keras.
THALWEG_API std::string keras_home();

namespace datasets {

/// A file or folder of Keras's data sets, whether it is there or not; an absolute path stays as it is.
std::string local_place(const std::string& name);
/// The same, which must be there: NotFoundError that says what to put where.
std::string local_file(const std::string& name);
/// The path of a folder that may still be packed: `folder` + ".tar.gz", which is unpacked beside itself.
std::string local_folder(const std::string& folder);

/// A file that comes with Thalweg, in the folder THALWEG_DATA or in share/thalweg beside the library; empty when it is
/// nowhere.
std::string shipped_file(const std::string& name);

}  // namespace datasets
}  // namespace thalweg::keras
